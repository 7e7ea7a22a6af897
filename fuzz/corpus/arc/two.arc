http://a/ 10.0.0.1 20200102030405 text/html 200 - - 95 x.arc 5
hello

http://a/ 10.0.0.1 20200102030405 text/html 29
HTTP/1.1 200 OK
A: b

hell

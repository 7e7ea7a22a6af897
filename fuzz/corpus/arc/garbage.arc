http://a/ 10.0.0.1 20200102030405 text/html 3
abc
monkeys are coming
http://b/ 10.0.0.1 20200102030405 text/html 99
ab
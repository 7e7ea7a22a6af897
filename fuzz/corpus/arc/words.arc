http://a/  10.0.0.1	202001020304057 text/html; charset=x 5
hello
www.b/ 10.0.0.1 20200102 200 - - 95 x.arc 3
end
http://c/é 10.0.0.1 soon text/html 1
x

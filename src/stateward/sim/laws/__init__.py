"""Laws that hold for every operator, whatever it looks after, and who watches over them."""

"""People who answer what a judge answers, not knowing whose work it is, and how far the judge agrees with them."""

/* The static library of host.c. */
double circle_area(double radius, int doublings);

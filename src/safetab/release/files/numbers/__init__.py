"""The numbers of a release: what each is, its noise, its margin, and the files that hold them."""

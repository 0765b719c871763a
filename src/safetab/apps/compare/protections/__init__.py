"""How agencies protect tables; each protection is one file and states its likelihood."""

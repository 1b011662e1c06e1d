"""Measures the shipped files as the service uses them."""

"""Answers as text, JSON and other forms; a renderer decides nothing."""

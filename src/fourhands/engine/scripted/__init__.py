"""Scripted models: what they do on a task, in plain shell, made from the task's reference."""

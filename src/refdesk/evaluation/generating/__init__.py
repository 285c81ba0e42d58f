"""Questions with known answers, made of a library's own documents."""

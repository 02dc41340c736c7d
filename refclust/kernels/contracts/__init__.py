"""When an answer is as good as the reference's: a contract for each kind of kernel (chapter 80)."""

"""Writers: labels, rows and tables into files (DATA-WRITE of chapter 09)."""

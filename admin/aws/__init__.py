"""The requests to AWS that only the operator's command makes."""

"""Checks the templates as CloudFormation reads them: `python -m tools.templates`.

`template.yaml` is not what CloudFormation reads. SAM writes aliases, permissions, rollouts and the
API's body into it, and the parameters decide which resources exist. So each set of parameters in
`sets` is translated as AWS translates it and resolved, and the checks look at the result.
"""

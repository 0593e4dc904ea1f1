variable "account" { type = string }
variable "zone_id" { type = string }

# shop.yaml is the template above. A failed update rolls back, as with CloudFormation alone.
resource "aws_cloudformation_stack" "mail" {
  name          = "shop-mail"
  template_body = file("${path.module}/shop.yaml")
  parameters = {
    Pillarbox = "pillarbox-prod"
    Account   = var.account
    Domain    = "shop.example"
    Zone      = var.zone_id
  }
  timeout_in_minutes = 60
}

data "aws_secretsmanager_secret_version" "key" {
  secret_id = aws_cloudformation_stack.mail.outputs["KeySecret"]
}

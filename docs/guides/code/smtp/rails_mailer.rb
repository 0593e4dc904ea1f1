class ReceiptMailer < ActionMailer::Base
  default from: "hello@shop.example" # a verified sender

  def receipt(to, invoice)
    headers["Idempotency-Key"] = "smtp-receipt-#{invoice}"
    mail(to: to, subject: "Your receipt #{invoice}") do |format|
      format.text { render plain: "Thank you!" }
      format.html { render html: "<p>Thank you!</p>".html_safe }
    end
  end
end

# Configures ActionMailer as the guide says, and sends with it: rails_smtp.rb TO INVOICE

require "action_mailer"

module Rails
  def self.application = self
  def self.configure(&block) = instance_eval(&block)
  def self.config = self
  def self.action_mailer = ActionMailer::Base
end

code = File.expand_path("../../../docs/guides/code/smtp", __dir__)
load "#{code}/rails_environment.rb"
load "#{code}/rails_mailer.rb"
ReceiptMailer.receipt(*ARGV).deliver_now

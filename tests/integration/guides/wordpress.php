<?php

// Sends as wp_mail does: with PHPMailer, after the plugin's hooks: wordpress.php TO INVOICE

require 'libphp-phpmailer/autoload.php';

[, $to, $invoice] = $argv;
$hooks = [];
function add_action(string $name, callable $do): void
{
    $GLOBALS['hooks'][$name] = $do;
}
function add_filter(string $name, callable $do): void
{
    add_action($name, $do);
}
require dirname(__DIR__, 3).'/docs/guides/code/smtp/wordpress.php';

$mailer = new PHPMailer\PHPMailer\PHPMailer(true);
$mailer->setFrom($hooks['wp_mail_from']('wordpress@localhost'), $hooks['wp_mail_from_name']('WordPress'), false);
$mailer->addAddress($to);
$mailer->Subject = "Your receipt $invoice";
$mailer->Body = 'Thank you!';
$mailer->addCustomHeader('Idempotency-Key', "receipt-$invoice");
$hooks['phpmailer_init']($mailer);
$mailer->send();

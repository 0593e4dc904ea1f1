<?php
/* Plugin Name: Mail through Pillarbox */

add_action('phpmailer_init', function ($mailer) {
    $mailer->isSMTP();
    $mailer->Host = getenv('SMTP_HOST');
    $mailer->Port = (int) getenv('SMTP_PORT');
    $mailer->SMTPSecure = 'tls';
    $mailer->SMTPAuth = true;
    $mailer->Username = getenv('SMTP_USERNAME');
    $mailer->Password = getenv('SMTP_PASSWORD');
    $mailer->Sender = $mailer->From;
});
add_filter('wp_mail_from', fn () => 'hello@shop.example'); // a verified sender
add_filter('wp_mail_from_name', fn () => 'Shop');

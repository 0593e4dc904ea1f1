<?php

// Starts Laravel's mailer with the guide's settings, and sends with it: laravel_smtp.php TO INVOICE

require 'Illuminate/autoload.php';

[, $to, $invoice] = $argv;
$code = dirname(__DIR__, 3).'/docs/guides/code/smtp';
$env = array_merge(parse_ini_file("$code/laravel.env"), [
    'MAIL_HOST' => getenv('SMTP_HOST'),
    'MAIL_PORT' => getenv('SMTP_PORT'),
    'MAIL_PASSWORD' => getenv('SMTP_PASSWORD'),
]);
// As Laravel's own config/mail.php reads the variables.
$mail = [
    'default' => $env['MAIL_MAILER'],
    'mailers' => ['smtp' => [
        'transport' => 'smtp',
        'host' => $env['MAIL_HOST'],
        'port' => $env['MAIL_PORT'],
        'encryption' => $env['MAIL_ENCRYPTION'],
        'username' => $env['MAIL_USERNAME'],
        'password' => $env['MAIL_PASSWORD'],
    ]],
    'from' => ['address' => $env['MAIL_FROM_ADDRESS'], 'name' => $env['MAIL_FROM_NAME']],
];
$app = new Illuminate\Foundation\Application;
$app->instance('config', new Illuminate\Config\Repository(['mail' => $mail, 'view' => ['paths' => [], 'compiled' => sys_get_temp_dir()]]));
$app->register(Illuminate\Filesystem\FilesystemServiceProvider::class);
$app->register(Illuminate\View\ViewServiceProvider::class);
$app->register(Illuminate\Mail\MailServiceProvider::class);
Illuminate\Support\Facades\Facade::setFacadeApplication($app);
require "$code/laravel_send.php";

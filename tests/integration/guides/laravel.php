<?php

// Starts as much of Laravel as the guides need, and runs one of their files: laravel.php FILE TO INVOICE

require 'GuzzleHttp/autoload.php';
require 'Illuminate/autoload.php';

[, $file, $to, $invoice] = $argv;
$code = dirname(__DIR__, 3).'/docs/guides/code/laravel';
$app = new Illuminate\Foundation\Application;
$app->instance('config', new Illuminate\Config\Repository(['services' => require "$code/services.php"]));
Illuminate\Support\Facades\Facade::setFacadeApplication($app);
require "$code/Pillarbox.php";
require "$code/$file";
echo $id, PHP_EOL;

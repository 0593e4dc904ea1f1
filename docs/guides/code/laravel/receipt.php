<?php

use App\Services\Pillarbox;

$id = app(Pillarbox::class)->send([
    'to' => $to,
    'starterTemplate' => 'payment_receipt',
    'variables' => ['amount' => '49.00', 'currency' => 'EUR', 'invoice_id' => $invoice],
], idempotencyKey: "receipt-$invoice");

<?php

use Illuminate\Support\Facades\Mail;

Mail::raw('Thank you!', function ($message) use ($to, $invoice) {
    $message->to($to)->subject("Your receipt $invoice");
    $message->getHeaders()->addTextHeader('Idempotency-Key', "smtp-receipt-$invoice");
});

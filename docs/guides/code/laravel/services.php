<?php

return [
    'pillarbox' => [
        'url' => env('PILLARBOX_URL'),
        'key' => env('PILLARBOX_KEY'),
    ],
];

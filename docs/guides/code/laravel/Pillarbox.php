<?php

namespace App\Services;

use GuzzleHttp\Exception\TransferException;
use Illuminate\Http\Client\ConnectionException;
use Illuminate\Http\Client\Response;
use Illuminate\Support\Facades\Http;

class Pillarbox
{
    /** Return the message's id. Each operation has a key of its own, which its retries repeat. */
    public function send(array $email, string $idempotencyKey, int $tries = 5): string
    {
        $failure = new \ValueError('$tries must be at least 1');
        $wait = 0;
        for ($attempt = 0; $attempt < $tries && $wait !== null; $attempt++) {
            usleep((int) ($wait * 1_000_000));
            $wait = 0.5 * 2 ** $attempt + random_int(0, 250) / 1000;
            try {
                $response = $this->post($email, $idempotencyKey);
            } catch (ConnectionException|TransferException $error) {
                $failure = $error; // no answer; the email may be accepted all the same

                continue;
            }
            if ($response->successful()) {
                return $response->json('messageId');
            }
            $failure = new PillarboxRefused($response);
            $wait = $this->secondsToWait($response, $wait);
        }
        throw $failure;
    }

    private function post(array $email, string $idempotencyKey): Response
    {
        return Http::withHeaders([
            'X-API-Key' => config('services.pillarbox.key'),
            'User-Agent' => 'shop/1.0',
            'Idempotency-Key' => $idempotencyKey,
        ])->timeout(30)->post(config('services.pillarbox.url').'/api/v1/emails', $email);
    }

    /** Return the seconds until the next try, or null if no try can succeed soon. */
    private function secondsToWait(Response $response, float $usual): ?float
    {
        $header = fn (string $name, float $default): float => is_numeric($response->header($name))
            ? (float) $response->header($name)
            : $default;
        if ($response->status() === 429) { // the limit of a minute ends soon, that of a day does not
            $seconds = $header('RateLimit-Reset', 60);

            return $seconds <= 60 ? $seconds : null;
        }

        return $response->serverError() || $response->header('Retry-After') !== ''
            ? $header('Retry-After', $usual)
            : null;
    }
}

/** Pillarbox refused an email: `reason` is the code, and the message says it to people. */
class PillarboxRefused extends \RuntimeException
{
    public readonly string $reason;

    public function __construct(Response $response)
    {
        parent::__construct($response->status().' '.$response->body());
        $this->reason = $response->json('error.code') ?? 'unknown';
    }
}

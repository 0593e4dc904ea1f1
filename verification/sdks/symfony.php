<?php

// Sends with Symfony's transport for Postmark, which is Laravel's mailer `postmark` too. Prints JSON.
require 'Symfony/Component/Mailer/autoload.php';
require 'Symfony/Component/HttpClient/autoload.php';
require 'Symfony/Component/Mailer/Bridge/Postmark/autoload.php';

use Symfony\Component\HttpClient\HttpClient;
use Symfony\Component\Mailer\Bridge\Postmark\Transport\PostmarkApiTransport;
use Symfony\Component\Mailer\Header\MetadataHeader;
use Symfony\Component\Mailer\Header\TagHeader;
use Symfony\Component\Mime\Email;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use Symfony\Contracts\HttpClient\ResponseStreamInterface;

/** Goes to POSTMARK_HOST: the transport knows only https. */
class LocalClient implements HttpClientInterface
{
    public function __construct(private HttpClientInterface $client)
    {
    }

    public function request(string $method, string $url, array $options = []): ResponseInterface
    {
        return $this->client->request($method, 'http://'.getenv('POSTMARK_HOST').parse_url($url, PHP_URL_PATH), $options);
    }

    public function stream($responses, ?float $timeout = null): ResponseStreamInterface
    {
        return $this->client->stream($responses, $timeout);
    }

    public function withOptions(array $options): static
    {
        return new static($this->client->withOptions($options));
    }
}

$transport = new PostmarkApiTransport(getenv('POSTMARK_KEY'), new LocalClient(HttpClient::create()));
$email = (new Email())
    ->from('"Acme, Inc." <hello@shop.example>')
    ->to('symfony@customer.example')
    ->replyTo('Support <support@shop.example>', 'b@shop.example')
    ->subject('Grüße')
    ->html('<img src="cid:logo">')
    ->attach(str_repeat('%PDF-1.7', 20), 'a.pdf', 'application/pdf')
    ->attach("ü;1\n", 'a.csv', 'text/csv')
    ->embed(base64_decode('iVBORw0KGgo='), 'logo', 'image/png')
    ->priority(Email::PRIORITY_HIGH);
$email->getHeaders()->addTextHeader('List-Unsubscribe', '<mailto:u@shop.example>,<https://shop.example/u>');
$email->getHeaders()->add(new TagHeader('receipt'));
$email->getHeaders()->add(new MetadataHeader('order', '10442'));
$sent = $transport->send($email);
echo json_encode([
    'an email' => strlen($sent->getMessageId()) === 36,
    'that email as it arrives' => [
        'to' => 'symfony@customer.example',
        'has' => [
            'From: "Acme, Inc." <hello@shop.example>',
            'Reply-To: "Support" <support@shop.example>, b@shop.example',
            'List-Unsubscribe: <mailto:u@shop.example>, <https://shop.example/u>',
            'X-Priority: 2 (High)',
            'attachment; filename="a.pdf"',
            'Content-Type: text/csv; charset=utf-8',
            'Content-ID: <logo>',
        ],
    ],
]);

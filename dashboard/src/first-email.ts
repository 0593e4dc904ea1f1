// Programs that send a first email with a new key, in the languages of most readers. They need only
// what the language brings, and run as they are.

import { curlWith, welcome } from "./command";

export const LANGUAGES = ["curl", "Python", "Node.js", "PHP", "Ruby", "Go"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Return a program that sends the starter template `welcome` to an address. */
export function firstEmail(language: Language, origin: string, key: string, to: string): string {
  return PROGRAMS[language](`${origin}/api/v1/emails`, key, to, origin);
}

type Write = (url: string, key: string, to: string, origin: string) => string;

/** The text of a string in single quotes, in which PHP and Ruby replace nothing. */
const single = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
const double = (text: string) => JSON.stringify(text);

const PROGRAMS: Record<Language, Write> = {
  curl: (_, key, to, origin) => curlWith(origin, key, to),
  Python: (url, key, to) => `import json
import urllib.error
import urllib.request

email = {"to": ${double(to)}, "starterTemplate": "welcome", "variables": {"name": "Ada"}}
request = urllib.request.Request(
    ${double(url)},
    data=json.dumps(email).encode(),
    headers={"X-API-Key": ${double(key)}, "Content-Type": "application/json", "User-Agent": "shop/1.0"},
)
try:
    with urllib.request.urlopen(request) as response:
        print(response.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())`,
  "Node.js": (url, key, to) => `fetch(${double(url)}, {
  method: "POST",
  headers: { "X-API-Key": ${double(key)}, "Content-Type": "application/json", "User-Agent": "shop/1.0" },
  body: JSON.stringify({ to: ${double(to)}, starterTemplate: "welcome", variables: { name: "Ada" } }),
}).then(async (response) => console.log(response.status, await response.text()));`,
  PHP: (url, key, to) => `<?php
$email = ['to' => ${single(to)}, 'starterTemplate' => 'welcome', 'variables' => ['name' => 'Ada']];
echo file_get_contents(${single(url)}, false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => ['X-API-Key: ' . ${single(key)}, 'Content-Type: application/json', 'User-Agent: shop/1.0'],
    'content' => json_encode($email),
    'ignore_errors' => true,
]]));`,
  Ruby: (url, key, to) => `require 'json'
require 'net/http'

email = { to: ${single(to)}, starterTemplate: 'welcome', variables: { name: 'Ada' } }
headers = { 'X-API-Key' => ${single(key)}, 'Content-Type' => 'application/json', 'User-Agent' => 'shop/1.0' }
puts Net::HTTP.post(URI(${single(url)}), email.to_json, headers).body`,
  Go: (url, key, to) => `package main

import (
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	email := ${double(welcome(to))}
	request, _ := http.NewRequest("POST", ${double(url)}, strings.NewReader(email))
	request.Header.Set("X-API-Key", ${double(key)})
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "shop/1.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	io.Copy(os.Stdout, response.Body)
}`,
};

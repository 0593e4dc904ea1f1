# Receive webhooks: check the signature, drop repetitions, answer, then work.
require "json"
require "openssl"
require "set"

class Receiver
  def initialize(secret)
    @key = secret.delete_prefix("whsec_").unpack1("m0")
    @seen = Set.new # in production a table with the webhook-id as its unique key
  end

  # Rack calls this; in Rails, put it into a controller.
  def call(env)
    body = env["rack.input"].read
    return [400, {}, []] unless valid?(env, body)

    handle(JSON.parse(body)) if @seen.add?(env["HTTP_WEBHOOK_ID"])
    [204, {}, []]
  end

  private

  def valid?(env, body)
    id, timestamp = env["HTTP_WEBHOOK_ID"], env["HTTP_WEBHOOK_TIMESTAMP"].to_s
    return false if (Time.now.to_i - timestamp.to_i).abs > 300 # an old request, sent again

    signed = OpenSSL::HMAC.digest("SHA256", @key, "#{id}.#{timestamp}.#{body}")
    expected = "v1,#{[signed].pack("m0")}"
    # During a rotation there are several signatures.
    env["HTTP_WEBHOOK_SIGNATURE"].to_s.split.any? do |signature|
      OpenSSL.secure_compare(expected, signature)
    end
  end

  def handle(event)
    data = event["data"]
    puts [event["type"], data["messageId"], data["recipient"]].join(" ")
    $stdout.flush
  end
end

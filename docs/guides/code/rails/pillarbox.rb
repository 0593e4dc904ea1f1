require "json"
require "net/http"

# Sends emails with Pillarbox.
class Pillarbox
  # Pillarbox refused an email: `code` says why, and the message says it to people.
  class Refused < StandardError
    attr_reader :code

    def initialize(response)
      super("#{response.code} #{response.body}")
      @code = JSON.parse(response.body).dig("error", "code")
    rescue JSON::ParserError
      @code = "unknown"
    end
  end

  NO_ANSWER = [SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError].freeze

  def initialize(url: ENV.fetch("PILLARBOX_URL"), key: ENV.fetch("PILLARBOX_KEY"))
    @uri = URI("#{url}/api/v1/emails")
    @headers = { "X-API-Key" => key, "User-Agent" => "shop/1.0", "Content-Type" => "application/json" }
  end

  # Returns the message's id. Each operation has a key of its own, which its retries repeat.
  def send_email(email, idempotency_key:, tries: 5)
    failure = nil
    wait = 0
    tries.times do |attempt|
      sleep(wait)
      wait = 0.5 * 2**attempt + rand / 4
      response = post(email, idempotency_key)
      return JSON.parse(response.body)["messageId"] if response.is_a?(Net::HTTPSuccess)

      failure = Refused.new(response)
      wait = seconds_to_wait(response, wait) or break
    rescue *NO_ANSWER => error
      failure = error # the email may be accepted all the same
    end
    raise failure
  end

  private

  def post(email, idempotency_key)
    Net::HTTP.start(@uri.host, @uri.port, use_ssl: @uri.scheme == "https", read_timeout: 30) do |http|
      http.post(@uri.path, email.to_json, @headers.merge("Idempotency-Key" => idempotency_key))
    end
  end

  # Returns the seconds until the next try, or nil if no try can succeed soon.
  def seconds_to_wait(response, usual)
    if response.code == "429" # the limit of a minute ends soon, that of a day does not
      seconds = Integer(response["RateLimit-Reset"] || 60)
      return seconds <= 60 ? seconds : nil
    end
    Float(response["Retry-After"] || usual) if response.code.to_i >= 500 || response.key?("Retry-After")
  end
end

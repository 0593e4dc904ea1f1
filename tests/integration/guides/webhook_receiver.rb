# Serves the guide's receiver with the standard library alone, as a Rack server does.

require "socket"
require "stringio"
require_relative "../../../docs/guides/code/webhooks/receiver"

receiver = Receiver.new(ENV.fetch("WEBHOOK_SECRET"))
server = TCPServer.new("127.0.0.1", Integer(ENV.fetch("PORT")))
loop do
  client = server.accept
  next client.close unless client.gets # a test that only connects

  fields = {}
  while (line = client.gets.chomp) != ""
    name, value = line.split(": ", 2)
    fields["HTTP_#{name.upcase.tr("-", "_")}"] = value
  end
  body = client.read(Integer(fields.fetch("HTTP_CONTENT_LENGTH")))
  status, = receiver.call(fields.merge("rack.input" => StringIO.new(body)))
  client.write("HTTP/1.1 #{status} Done\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  client.close
end

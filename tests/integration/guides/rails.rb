# Runs one of the guides' files with the standard library alone: rails.rb FILE TO INVOICE

code = File.expand_path("../../../docs/guides/code/rails", __dir__)
file, to, invoice = ARGV
require "#{code}/pillarbox.rb"
id = nil
eval(File.read("#{code}/#{file}"), binding) # as if it stood here, with these variables
puts id

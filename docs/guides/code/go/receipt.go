package main

import (
	"fmt"
	"log"
	"os"
)

func main() {
	to, invoice := os.Args[1], os.Args[2]
	receipt := map[string]any{
		"to":              to,
		"starterTemplate": "payment_receipt",
		"variables":       map[string]any{"amount": "49.00", "currency": "EUR", "invoice_id": invoice},
	}
	id, err := Send(receipt, "receipt-"+invoice, 5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}

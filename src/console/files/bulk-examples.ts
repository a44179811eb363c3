// Small files that show which columns an upload has. A test uploads each of them.
import type { BulkKind } from '../../outbound/bulk/bulk.schema.js';

const examples: Record<BulkKind, readonly string[]> = {
  charges: [
    'type;correlationId;yourNumber;dueDate;Amount;payer.name;payer.document',
    'BANKSLIP_PIX;exemplo-001;1;31/12/2030;149,90;Maria da Silva;12345678909',
    'BANKSLIP;exemplo-002;2;31/12/2030;1.250,00;João Souza;52998224725',
  ],
  transfers: [
    'externalId;amount;key;description',
    'exemplo-001;10,50;maria@pessoa-dois.example;Reembolso',
    'exemplo-002;1.250,00;maria@pessoa-dois.example;Nota 123',
  ],
  expected_payments: [
    'externalId;direction;amount;dateFrom;dateTo;counterparty.name;text;category',
    'exemplo-001;credit;149,90;01/12/2030;05/12/2030;Maria da Silva;PEDIDO 1;Vendas',
    'exemplo-002;debit;89,00;10/12/2030;;Operadora;TELEFONE;Telefonia',
  ],
};

/** In CSV as spreadsheets in Brazil write it, with a byte order mark. */
export function exampleFile(kind: BulkKind): string {
  return `\uFEFF${examples[kind].join('\r\n')}\r\n`;
}

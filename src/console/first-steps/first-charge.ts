// The first charge of an account: the request of the form, and the same request as a command.
import { LosslessNumber } from 'lossless-json';
import { addDays, type PlainDate } from '../../brazil/calendar.js';

/** What stands in the form. */
export interface FirstCharge {
  correlationId: string;
  payerName: string;
  payerDocument: string;
  /** As it was typed: `149,90`. */
  amount: string;
  dueDate: string;
}

const daysToPay = 7;
export const firstChargeIds = /^primeira-[0-9a-f]{8}$/;

export function exampleCharge(correlationId: string, today: PlainDate): FirstCharge {
  return {
    correlationId,
    payerName: 'Maria da Silva',
    payerDocument: '12345678909',
    amount: '149,90',
    dueDate: addDays(today, daysToPay),
  };
}

/** The body of `POST /baas/v1/charges`, not checked yet. */
export function firstChargeBody(charge: FirstCharge): Record<string, unknown> {
  const { correlationId, payerName, payerDocument, amount, dueDate } = charge;
  const reais = amount.includes(',') ? amount.replaceAll('.', '').replace(',', '.') : amount;
  return {
    type: 'BANKSLIP_PIX',
    correlationId,
    dueDate,
    // What is no number is left as text, which the schema refuses.
    Amount: /^\d{1,12}(\.\d+)?$/.test(reais) ? new LosslessNumber(reais) : amount,
    payer: { name: payerName, document: payerDocument },
  };
}

/** For a shell: no text of the charge holds a quotation mark there. */
export function curlOf(url: string, key: string, charge: FirstCharge): string {
  const { Amount, ...body } = firstChargeBody(charge);
  const json = JSON.stringify({ ...body, Amount: Number(Amount) }).replaceAll("'", "'\\''");
  return [
    `curl -s ${url}/baas/v1/charges \\`,
    `  -H 'x-service-api-key: ${key}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${json}'`,
  ].join('\n');
}

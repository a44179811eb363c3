// Amounts are texts here, '149.90', and numbers in the bank's JSON. The bank's amounts have at most
// 14 digits, and a double holds each decimal number of 15 digits: nothing is lost on the way.

const amountFields: ReadonlySet<string> = new Set([
  ...['amount', 'Amount', 'balance', 'amountAvailable', 'amountBlocked', 'amountTotal'],
  ...['minimumPaymentAmount', 'maximumPaymentAmount', 'originalAmount'],
]);
const written = /^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,2})?$/;

/** The body with numbers in place of amounts. Throws TypeError for what is no amount. */
export function toWire(body: object): unknown {
  return changeFields(body, (value, name) => {
    if (typeof value !== 'string') return value;
    if (!written.test(value)) throw new TypeError(`${name}: ${value} is written as 149.90.`);
    return Number(value);
  });
}

/** The response with texts in place of amounts; null for none, a text that is no JSON as it is. */
export function fromWire(text: string): unknown {
  if (text === '') return null;
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return text;
  }
  return changeFields(answer, (value) => (typeof value === 'number' ? value.toFixed(2) : value));
}

function changeFields(value: unknown, change: (value: unknown, name: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => changeFields(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      amountFields.has(name) && typeof field !== 'object'
        ? change(field, name)
        : changeFields(field, change),
    ]),
  );
}

// The mark of the keys and externalIds that this installation creates for an account: the last ten
// digits follow from the others and from the account's installation id. So a debit of another
// service with a copy of the database is recognised: its key bears the mark, and no operation here
// has it.
import { createHmac } from 'node:crypto';

const markDigits = 10;
const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const markOf = (head: string, installation: string): string =>
  createHmac('sha256', installation).update(head).digest('hex').slice(0, markDigits);

/** The uuid with the mark in place of its last digits. Equal uuids stay equal. */
export function markedId(uuid: string, installation: string): string {
  const head = uuid.slice(0, -markDigits);
  return head + markOf(head, installation);
}

/** Whether the installation created the id. Any other uuid has the mark once in 2⁴⁰. */
export function hasMark(id: string, installation: string): boolean {
  const uuid = id.toLowerCase();
  return uuidText.test(uuid) && markedId(uuid, installation) === uuid;
}

/** When a key was created, by PostgreSQL's clock; 0 for an externalId, which shows no time. */
export function createdAtMs(id: string): number {
  const isKey = id.charAt(14) === '7';
  return isKey ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0;
}

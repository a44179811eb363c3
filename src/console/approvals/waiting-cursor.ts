// The cursor of the list of what awaits approval: the expiry and the id of the last row.
import { isUuid } from '../../platform/http/listing.js';

export interface WaitingPosition {
  dueAt: Date;
  id: string;
}

export function writeWaitingCursor({ dueAt, id }: WaitingPosition): string {
  return `${dueAt.toISOString()} ${id}`;
}

export function isWaitingCursor(text: string): boolean {
  const [time = '', id = ''] = text.split(' ');
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) && isTime(time) && isUuid(id);
}

/** Of a text for which `isWaitingCursor` is true. */
export function readWaitingCursor(text: string): WaitingPosition {
  const [time = '', id = ''] = text.split(' ');
  return { dueAt: new Date(time), id };
}

function isTime(text: string): boolean {
  return !Number.isNaN(new Date(text).getTime());
}

/** E names a payment (endToEndId, pacs.008), D its return (pacs.004). */
export interface EndToEndId {
  kind: 'E' | 'D';
  /** The participant that made the id: eight characters, letters too since pix-api 2.9.0. */
  ispb: string;
  /** The minute written in the id, UTC. The SPI tolerates twelve hours of difference either way. */
  at: Date;
  /** Eleven letters and digits of the participant's own. */
  sequence: string;
}

/** Case-sensitive in the sequence, and 32 characters although two of BACEN's examples have 34. */
const ID =
  /^([ED])([0-9A-Z]{8})([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9A-Za-z]{11})$/;

/** Reads an id, or null. The text is taken as it is: two ids that differ by case are two ids. */
export function parseEndToEndId(text: string): EndToEndId | null {
  const parts = ID.exec(text);
  if (parts === null) return null;
  const [, kind, ispb = '', year, month, day, hour, minute, sequence = ''] = parts;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
  const at = new Date(iso);
  // Compared back, because '2026-02-30' and hour 24 are read as the next day.
  if (Number.isNaN(at.getTime()) || at.toISOString() !== iso) return null;
  return { kind: kind === 'D' ? 'D' : 'E', ispb, at, sequence };
}

/** Seconds of `at` are dropped. RangeError on parts that no id can carry. */
export function buildEndToEndId({ kind, ispb, at, sequence }: EndToEndId): string {
  if (Number.isNaN(at.getTime())) throw new RangeError('not an instant');
  const minute = at.toISOString().slice(0, 16).replaceAll(/[-T:]/g, '');
  const id = `${kind}${ispb}${minute}${sequence}`;
  if (parseEndToEndId(id) === null) {
    throw new RangeError(`not the parts of an end-to-end id: ${id}`);
  }
  return id;
}

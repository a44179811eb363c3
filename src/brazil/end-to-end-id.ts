/**
 * `E` identifies a payment (endToEndId, pacs.008). `D` identifies its refund (devolução, pacs.004).
 */
export interface EndToEndId {
  kind: 'E' | 'D';
  /** The participant that created the id: eight characters, with letters since pix-api 2.9.0. */
  ispb: string;
  /**
   * The minute in the id, in UTC. The SPI tolerates a difference of twelve hours in both
   * directions.
   */
  at: Date;
  /** Eleven letters and digits that the participant chooses. */
  sequence: string;
}

/** 32 characters, although two of BACEN's examples have 34. The sequence is case-sensitive. */
const ID =
  /^([ED])([0-9A-Z]{8})([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9A-Za-z]{11})$/;

/** Parses an id; null for any other text. Ids that differ only by case are different ids. */
export function parseEndToEndId(text: string): EndToEndId | null {
  const parts = ID.exec(text);
  if (parts === null) return null;
  const [, kind, ispb = '', year, month, day, hour, minute, sequence = ''] = parts;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
  const at = new Date(iso);
  // Formatted again and compared, because Date reads '2026-02-30' and hour 24 as another day.
  if (Number.isNaN(at.getTime()) || at.toISOString() !== iso) return null;
  return { kind: kind === 'D' ? 'D' : 'E', ispb, at, sequence };
}

/**
 * Builds an id. The seconds of `at` are dropped. Throws RangeError for parts that an id cannot
 * hold.
 */
export function buildEndToEndId({ kind, ispb, at, sequence }: EndToEndId): string {
  if (Number.isNaN(at.getTime())) throw new RangeError('not an instant');
  const minute = at.toISOString().slice(0, 16).replaceAll(/[-T:]/g, '');
  const id = `${kind}${ispb}${minute}${sequence}`;
  if (parseEndToEndId(id) === null) {
    throw new RangeError(`not the parts of an end-to-end id: ${id}`);
  }
  return id;
}

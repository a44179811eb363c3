// Reads and writes EMV fields (id, length, value), of which BR Codes consist.
const CRC_POLYNOMIAL = 0x1021;
const CRC_INITIAL = 0xffff;

/** CRC-16/CCITT-FALSE of the UTF-8 bytes, as four capital hexadecimal digits. */
export function crc16(text: string): string {
  let crc = CRC_INITIAL;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = crc & 0x8000 ? ((crc << 1) ^ CRC_POLYNOMIAL) & 0xffff : (crc << 1) & 0xffff;
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

/** One field. Throws RangeError above 99 characters, as the length has two digits. */
export function writeField(id: string, value: string): string {
  if (value.length > 99) throw new RangeError(`field ${id} holds 99 characters at most`);
  return `${id}${String(value.length).padStart(2, '0')}${value}`;
}

/**
 * The fields in their order. Null when the lengths do not add up, or when an id occurs twice: two
 * readers could then read two different payments from one code.
 */
export function readFields(text: string): Map<string, string> | null {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const head = text.slice(at, at + 4);
    if (!/^[0-9]{4}$/.test(head)) return null;
    const id = head.slice(0, 2);
    const end = at + 4 + Number(head.slice(2));
    if (end > text.length || fields.has(id)) return null;
    fields.set(id, text.slice(at + 4, end));
    at = end;
  }
  return fields;
}

/**
 * The text in printable ASCII: accents and all other characters are removed, white space becomes
 * single spaces. A BR Code contains only such text, because many readers fail on other characters.
 */
export function foldToAscii(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}

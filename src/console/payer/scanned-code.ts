// What a payer has scanned or copied: a QR code of Pix, or the bar code or digitable line of a
// slip.

export type ScannedCode =
  { kind: 'pix'; payload: string } | { kind: 'slip'; digits: string } | { kind: 'unknown' };

/** `000201`: the version with which the text of each QR code of Pix begins. */
const pixStart = '000201';
const slipLengths = [44, 47, 48];

export function readScannedCode(text: string): ScannedCode {
  const trimmed = text.trim();
  if (trimmed.startsWith(pixStart)) return { kind: 'pix', payload: trimmed };
  const digits = trimmed.replace(/[\s.-]/g, '');
  if (/^\d+$/.test(digits) && slipLengths.includes(digits.length)) return { kind: 'slip', digits };
  return { kind: 'unknown' };
}

/** Whether the slip of a charge has this bar code or digitable line. */
export function isCodeOf(charge: Readonly<Record<string, unknown>>, digits: string): boolean {
  return [charge.digitableLine, charge.barCode, charge.barcode].some(
    (code) => typeof code === 'string' && code.replace(/\D/g, '') === digits,
  );
}

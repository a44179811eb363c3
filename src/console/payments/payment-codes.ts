// The codes by which a charge is paid or a bill is: read from the bank's response, and drawn. The
// drawings are black on white in every theme, because scanners need the contrast.
import QRCode from 'qrcode';
import { parseBillCode } from '../../brazil/bill-code.js';
import { isJsonObject } from '../../platform/json/exact-json.js';

/** A Pix QR code has 512 characters at most. A longer text would not fit into one. */
const maxPixCode = 512;

export interface PaymentCodes {
  /** 44 digits. */
  barCode: string | null;
  /** 47 or 48 digits. */
  digitableLine: string | null;
  /** The text of a Pix QR code ("copia e cola"). */
  pixCode: string | null;
}

/** A slip has its codes in fields of its own; a slip with QR code among `additionalInfo`. */
export function codesOf(response: unknown): PaymentCodes {
  const fields = isJsonObject(response) ? response : {};
  const information = Array.isArray(fields.additionalInfo) ? fields.additionalInfo : [];
  const entry = information.find((one) => isJsonObject(one) && one.key === 'DigitableLine') as
    { value?: unknown } | undefined;
  const slip = [fields.digitableLine, fields.barCode, entry?.value].find(isText);
  const pixCode = [fields.qrCode, fields.payloadPix].find(isText) ?? null;
  const isDrawable = pixCode !== null && pixCode.length <= maxPixCode;
  return { ...billCodes(slip), pixCode: isDrawable ? pixCode : null };
}

/** What a charge is, by how it is paid: the bank's own word for one kind is not always the same. */
export function chargeTypeOf(response: unknown) {
  const { digitableLine, pixCode } = codesOf(response);
  if (digitableLine === null) return 'list.charge.type.PIX_STATIC';
  return pixCode === null ? 'list.charge.type.BANKSLIP' : 'list.charge.type.BANKSLIP_PIX';
}

/** The codes of a bill. A text that is no valid code has none: nothing false is drawn. */
export function billCodes(text: string | undefined): Omit<PaymentCodes, 'pixCode'> {
  const parsed = text === undefined ? null : parseBillCode(text);
  if (!parsed?.ok) return { barCode: null, digitableLine: null };
  return { barCode: parsed.code.barCode, digitableLine: parsed.code.digitableLine };
}

export interface Drawings {
  barCode: string | null;
  qrCode: string | null;
}

/** The codes as SVGs. */
export async function drawingsOf({ barCode, pixCode }: PaymentCodes): Promise<Drawings> {
  return {
    barCode: barCode === null ? null : await drawBarCode(barCode),
    qrCode: pixCode === null ? null : await drawQrCode(pixCode),
  };
}

/** ITF as an SVG, with the quiet space that scanners need at both ends. */
export async function drawBarCode(barCode: string): Promise<string> {
  // Loaded when the first one is drawn: the program begins faster without it.
  const { toSVG } = await import('bwip-js/node');
  return toSVG({ bcid: 'interleaved2of5', text: barCode, height: 13, paddingwidth: 10 });
}

export async function drawQrCode(text: string): Promise<string> {
  return QRCode.toString(text, { type: 'svg', margin: 4, errorCorrectionLevel: 'M' });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

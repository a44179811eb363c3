// Codes that a person scans with a telephone or writes down.
import type { JSX } from 'preact';

interface QrCodeProps {
  svg: string;
  /** What a reader of the screen hears. */
  label: string;
}

/** A QR code: scanners need it dark on white. */
export function QrCode({ svg, label }: QrCodeProps): JSX.Element {
  return <div class="qr" role="img" aria-label={label} dangerouslySetInnerHTML={{ __html: svg }} />;
}

export function CodeList({ codes }: { codes: readonly string[] }): JSX.Element {
  return (
    <ul class="codes">
      {codes.map((code) => (
        <li>{code}</li>
      ))}
    </ul>
  );
}

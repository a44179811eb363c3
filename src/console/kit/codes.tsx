// Codes that a person scans with a telephone or writes down.

interface QrCodeProps {
  svg: string;
  /** What a reader of the screen hears. */
  label: string;
}

/** A QR code: scanners need it dark on white. */
export function QrCode({ svg, label }: QrCodeProps) {
  return <div class="qr" role="img" aria-label={label} dangerouslySetInnerHTML={{ __html: svg }} />;
}

export function CodeList({ codes }: { codes: readonly string[] }) {
  return (
    <ul class="codes">
      {codes.map((code) => (
        <li>{code}</li>
      ))}
    </ul>
  );
}

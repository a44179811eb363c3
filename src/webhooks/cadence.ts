// How often the statement is polled, by how well the bank's webhooks tell of its lines: often where they are lost or
// late, seldom where each line was told. A webhook wakes a poll of its own, whatever this says.

/** A line of a kind that the bank notifies. */
export interface NotifiableLine {
  /** A webhook named it. */
  isNotified: boolean;
  /** It is too young to say that its webhook is lost. */
  isWaiting: boolean;
  /** It was mirrored well before its webhook came, or without it: a poll by the clock found it. */
  wasFoundByPolling: boolean;
}

const shortestMs = 1_000;
const fewestHealthy = 20;
/** The newest lines, that tell of a bank that went silent just now. */
const newest = 10;
const fewestNewest = 3;
/** More than one in fifty lost. */
const tolerableLoss = 50;

/** The pause between polls, in milliseconds; null where it is the setting's. Lines are the newest first. */
export function cadenceMs(lines: readonly NotifiableLine[], settingMs: number): number | null {
  const lost = lines.filter(({ isNotified, isWaiting }) => !isNotified && !isWaiting).length;
  const decided = lines.filter(({ isNotified, isWaiting }) => isNotified || !isWaiting).length;
  const last = lines.slice(0, newest);
  const found = last.filter(({ wasFoundByPolling }) => wasFoundByPolling).length;
  const isLate = last.length >= fewestNewest && found * 2 > last.length;
  if (lost * tolerableLoss > decided || isLate) {
    const quarter = Math.max(shortestMs, Math.floor(settingMs / 4));
    return quarter < settingMs ? quarter : null;
  }
  return lost === 0 && decided >= fewestHealthy ? Math.max(shortestMs, settingMs * 2) : null;
}

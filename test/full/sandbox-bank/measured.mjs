// Measures banks as their tests have them, and prints the figures as JSON. PSS counts a page that
// several processes share once, in parts.
import { readdirSync, readFileSync } from 'node:fs';
import { startBank } from '@concilia/sandbox-bank';

const timed = async (work) => {
  const startedAt = performance.now();
  const result = await work();
  return { result, ms: Math.round(performance.now() - startedAt) };
};

function readStatus(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    // It has ended meanwhile.
    if (['ENOENT', 'ESRCH'].includes(error.code)) return '';
    throw error;
  }
}

/** Every process that this one has started, and theirs. */
function descendants() {
  const found = [process.pid];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = pids.map((pid) => [Number(pid), readStatus(pid, 'stat').split(') ')[1]]);
  for (const parent of found)
    for (const [pid, stat] of parents) if (Number(stat?.split(' ')[1]) === parent) found.push(pid);
  return found.slice(1);
}

function pssMb() {
  const kilobytes = descendants().map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(readStatus(pid, 'smaps_rollup'))?.[1] ?? 0),
  );
  return Math.round(kilobytes.reduce((sum, one) => sum + one, 0) / 1024);
}

async function use(bank) {
  const all = Array.from({ length: 50 }, () => bank.receivePix({ amount: '1.00' }));
  await Promise.all(all);
}

const starts = [];
for (let turn = 0; turn < 3; turn += 1) {
  const { result, ms } = await timed(() => startBank());
  starts.push(ms);
  await result.stop();
}
const one = await startBank();
await use(one);
const resets = [];
for (let turn = 0; turn < 10; turn += 1) resets.push((await timed(() => one.reset())).ms);
const oneMb = pssMb();
const others = await Promise.all([startBank(), startBank()]);
await use(others[0]);
const balances = await Promise.all(
  [one, ...others].map(async (bank) => (await bank.ledger()).accounts[0].balance),
);
const threeMb = pssMb();
const stops = await Promise.all([one, ...others].map((bank) => timed(() => bank.stop())));
console.log(
  JSON.stringify({ starts, resets, oneMb, threeMb, balances, stops: stops.map(({ ms }) => ms) }),
);

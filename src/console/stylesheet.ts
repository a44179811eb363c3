// The stylesheet of the console: one file, without a build, in the colours that the reader's system
// prefers, from 390 px to wide screens.
export const stylesheet = `
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #fff; --text: #1b1f24; --muted: #57606a; --line: #d0d7de;
  --accent: #0b5cad; --on-accent: #fff; --good: #116329; --good-back: #dafbe1;
  --bad: #a40e26; --bad-back: #ffebe9; --warn: #6b4700; --warn-back: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --card: #161b22; --text: #e6edf3; --muted: #9ca6b1; --line: #3b434c;
    --accent: #6cb2ff; --on-accent: #08111c; --good: #7ee2a0; --good-back: #12301d;
    --bad: #ff9c95; --bad-back: #3d1518; --warn: #f0cf72; --warn-back: #33290a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 8px; z-index: 1; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
.bar { max-width: 1200px; margin: 0 auto; padding: 8px 16px; display: flex; flex-wrap: wrap;
  gap: 8px 20px; align-items: center; }
.brand { font-weight: 700; font-size: 18px; color: var(--text); text-decoration: none; }
.bar .end { margin-left: auto; display: flex; flex-wrap: wrap; gap: 8px 14px;
  align-items: center; }
nav { flex-basis: 100%; }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 14px; }
nav a { display: inline-block; padding: 6px 2px; }
nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none;
  border-bottom: 3px solid var(--accent); }
nav a[aria-current="true"] { border-bottom-color: var(--line); }
nav.subpages { border-top: 1px solid var(--line); padding-top: 4px; font-size: 15px; }
main { max-width: 1200px; margin: 0 auto; padding: 16px; }
main.narrow { max-width: 460px; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0 16px; }
h2 { font-size: 18px; margin: 0 0 8px; }
.cards { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(290px, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px; margin: 0 0 16px; min-width: 0; }
.cards { margin: 0 0 16px; }
.cards.four { grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); }
.cards .card { margin: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 8px 10px; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; min-width: 190px; }
dl { display: grid; grid-template-columns: 1fr auto; gap: 6px 12px; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.notice { border-radius: 8px; padding: 12px 16px; margin: 0 0 16px; border: 1px solid;
  overflow-wrap: anywhere; }
.good { background: var(--good-back); color: var(--good); }
.bad { background: var(--bad-back); color: var(--bad); }
.warn { background: var(--warn-back); color: var(--warn); }
.notice.state { font-size: 20px; font-weight: 600; }
.notice ul { margin: 4px 0 0; padding-left: 20px; font-weight: 400; font-size: 16px; }
.notice a { color: inherit; }
.muted { color: var(--muted); }
label { display: block; font-weight: 600; margin: 0 0 12px; }
input, select { font: inherit; color: inherit; background: var(--back); width: 100%;
  border: 1px solid var(--muted); border-radius: 6px; padding: 8px 10px; margin-top: 4px; }
button, .button { font: inherit; font-weight: 600; border-radius: 6px; padding: 8px 16px;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
  cursor: pointer; text-decoration: none; display: inline-block; }
button.plain { background: transparent; color: var(--accent); padding: 6px 10px; }
.row { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; }
.row label { margin: 0; flex: 1 1 150px; }
td form { margin: 0; }
td .row { gap: 6px; flex-wrap: nowrap; }
td input, td select { margin: 0; padding: 5px 8px; min-width: 120px; width: auto; }
.hint { font-weight: 400; color: var(--muted); font-size: 14px; }
.qr { background: #fff; padding: 8px; border-radius: 8px; width: 220px; max-width: 100%; }
.qr svg { display: block; width: 100%; height: auto; }
.badge { display: inline-block; border-radius: 999px; padding: 1px 10px; font-size: 14px;
  font-weight: 600; white-space: nowrap; background: var(--back); border: 1px solid var(--line); }
.badge.good { background: var(--good-back); border-color: var(--good); }
.badge.bad { background: var(--bad-back); border-color: var(--bad); }
.badge.warn { background: var(--warn-back); border-color: var(--warn); }
.amount { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.number, th.number { text-align: right; }
.filters { align-items: end; margin: 0 0 16px; }
.pager { display: flex; gap: 16px; margin: 12px 0 0; }
.timeline { list-style: none; margin: 0; padding: 0 0 0 18px; border-left: 2px solid var(--line); }
.timeline li { position: relative; margin: 0 0 14px; overflow-wrap: anywhere; }
.timeline li::before { content: ""; position: absolute; left: -25px; top: 6px; width: 12px;
  height: 12px; border-radius: 50%; background: var(--muted); border: 2px solid var(--card); }
.timeline li.good::before { background: var(--good); }
.timeline li.bad::before { background: var(--bad); }
.timeline li.warn::before { background: var(--warn); }
.timeline time { display: block; color: var(--muted); font-size: 14px; }
textarea { font: inherit; color: inherit; background: var(--back); width: 100%; min-height: 80px;
  border: 1px solid var(--muted); border-radius: 6px; padding: 8px 10px; margin-top: 4px; }
input[type="checkbox"], input[type="radio"] { width: auto; min-width: 0; margin: 0 6px 0 0; }
progress { width: 100%; height: 14px; accent-color: var(--accent); }
pre { overflow-x: auto; background: var(--back); border: 1px solid var(--line);
  border-radius: 6px; padding: 12px; margin: 0; font-size: 14px; }
code, .codes { font-family: ui-monospace, SFMono-Regular, Menlo, monospace; font-size: 15px;
  overflow-wrap: anywhere; }
.codes { columns: 2; list-style: none; padding: 0; }
.chart { margin: 0; min-width: 0; }
.chart figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; }
.chart .key { display: inline-flex; gap: 6px; align-items: center; font-size: 14px; }
.chart .scroll svg { display: block; width: 100%; min-width: 520px; max-width: 760px;
  height: auto; }
.chart text { font-size: 12px; fill: var(--muted); font-variant-numeric: tabular-nums; }
.chart .grid { stroke: var(--line); } .chart .zero { stroke: var(--muted); }
.chart .mark { stroke: var(--card); stroke-width: 1.5; fill: none; }
.bar-in { fill: var(--accent); }
pattern .bar-out { fill: var(--warn); } pattern .bar-matched { fill: var(--accent); }
pattern .bar-classified { fill: var(--good); } pattern .bar-in_break { fill: var(--bad); }
pattern .bar-pending { fill: var(--muted); }
.chart path.balance { fill: none; stroke: var(--accent); stroke-width: 2; }
.chart circle.balance { fill: var(--accent); }
h2.later { margin-top: 24px; }
`;

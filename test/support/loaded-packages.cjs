// Preloaded into a process: at its end it prints which packages of OpenTelemetry it has loaded.
process.once('exit', () => {
  const packages = Object.keys(require.cache).flatMap(
    (path) => /node_modules\/(@opentelemetry\/[\w-]+)\//.exec(path)?.[1] ?? [],
  );
  process.stdout.write(`\nloaded: ${JSON.stringify([...new Set(packages)].sort())}\n`);
});

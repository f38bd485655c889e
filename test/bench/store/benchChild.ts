import { benchTasks } from './benchTasks';

/** `benchChild.js <task> <arguments as JSON>` sends what the task returns. */
async function main(name: string, given: string): Promise<void> {
  const task = (benchTasks as Readonly<Record<string, (given: never) => Promise<unknown>>>)[name];
  if (!task) throw new Error(`There is no task ${name}`);
  const result = await task(JSON.parse(given) as never);
  process.send?.({ result }, () => process.disconnect());
}

main(process.argv[2] ?? '', process.argv[3] ?? '').catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

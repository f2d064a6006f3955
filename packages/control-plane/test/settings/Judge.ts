import { judgeDeployment, judgeRows } from "@runplane/server"

/** What the check says about the settings of the control plane, without reading any file. */
export const judge = (values: Readonly<Record<string, string>>) => {
  const texts = new Map(Object.entries(values))
  const rows = judgeRows("control-plane", texts)
  const together = judgeDeployment(texts)
  return { faults: [...together.faults, ...rows.faults], warnings: [...rows.warnings, ...together.warnings] }
}

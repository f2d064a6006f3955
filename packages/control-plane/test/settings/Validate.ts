import { validateDeployment, validateRows } from "@runplane/server"

/** What the check says about the settings of the control plane, without reading any file. */
export const validate = (values: Readonly<Record<string, string>>) => {
  const texts = new Map(Object.entries(values))
  const rows = validateRows("control-plane", texts)
  const together = validateDeployment(texts)
  return { faults: [...together.faults, ...rows.faults], warnings: [...rows.warnings, ...together.warnings] }
}

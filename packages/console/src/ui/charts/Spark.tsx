/** A series as bars without axes, as wide as its container. */
export const Spark = ({
  className = "text-accent",
  values
}: {
  readonly values: ReadonlyArray<number | null>
  readonly className?: string
}) => {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const width = 100 / Math.max(1, values.length)
  return (
    <svg aria-hidden viewBox="0 0 100 24" preserveAspectRatio="none" className={`h-6 w-full ${className}`}>
      <line x1="0" x2="100" y1="23.5" y2="23.5" stroke="var(--c-line)" />
      {values.map((value, at) => {
        if (value === null || value === 0 || most === 0) return null
        const height = Math.max(1, (22 * value) / most)
        return (
          <rect
            // The buckets of a series keep their order.
            key={at}
            x={at * width + width * 0.1}
            width={width * 0.8}
            y={23 - height}
            height={height}
            fill="currentColor"
            opacity="0.75"
          />
        )
      })}
    </svg>
  )
}

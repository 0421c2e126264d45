// What leaves the page: pictures, films and links.

/** @param {Blob} blob @param {string} name */
function hand(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60e3);
}

/** The scene with its title, moment and legend. @type {Compose} */
function compose(scene, lines, ink, scale, legend, classes) {
  const canvas = document.createElement('canvas'), ratio = scene.width / scene.clientWidth;
  canvas.width = scene.width;
  canvas.height = scene.height;
  const g = penOf(canvas);
  g.drawImage(scene, 0, 0);
  g.scale(ratio, ratio);
  g.fillStyle = ink;
  g.font = '14px system-ui, sans-serif';
  lines.forEach((line, k) => g.fillText(line, 10, 20 + 18 * k));
  if (scale) g.drawImage(scale, 10, scene.clientHeight - 20, 160, 10);
  g.fillText(legend, 10, scene.clientHeight - 26);
  classes.reduce((x, name, k) => {
    g.fillStyle = `rgb(${distinct(k)})`;
    g.fillText(`■ ${name}`, x, scene.clientHeight - 8);
    return x + g.measureText(`■ ${name}  `).width;
  }, 10);
  return canvas;
}

/** Records the canvas while every frame is shown in turn. @type {Film} */
async function film(canvas, frames, rate, show) {
  if (!window.MediaRecorder || !MediaRecorder.isTypeSupported('video/webm')) throw new Error('This browser records no WebM.');
  const stream = canvas.captureStream(0), track = /** @type {CanvasCaptureMediaStreamTrack} */ (stream.getVideoTracks()[0]);
  const recorder = new MediaRecorder(stream, { mimeType: 'video/webm', videoBitsPerSecond: 12e6 });
  /** @type {Blob[]} */
  const parts = [];
  let size = 0;
  recorder.ondataavailable = (e) => {
    parts.push(e.data);
    size += e.data.size;
  };
  const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  const record = async (frame = 0, milliseconds = 0) => {
    const due = performance.now() + milliseconds;
    track.requestFrame(); // of what is painted next
    await show(frame);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  };
  recorder.start(100);
  for (let f = 0; f < frames; f++) await record(f, 1000 / rate);
  for (let k = 0; k < 100 && size < 2000; k++) await record(frames - 1, 100); // encoders begin late on busy machines
  recorder.stop();
  await stopped;
  return new Blob(parts, { type: 'video/webm' });
}

/** @param {Words} state */
const linkOf = (state) => '#' + Object.entries(state).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');

function stateOf(hash = '') {
  /** @type {Words} */
  const state = {};
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    try {
      state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
    } catch { /* a link that was cut says less */ }
  }
  return state;
}

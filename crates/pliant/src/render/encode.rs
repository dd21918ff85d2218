//! Pictures as PNG files.

use super::Picture;

/// The picture as the bytes of a PNG file, sRGB.
pub fn encode_png(picture: &Picture) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&picture.rgb))
        .expect("writing to memory fails only if width, height and bytes of a picture disagree");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let (width, height) = (31, 17);
        let rgb = (0..width * height * 3).map(|k| (k * 7919 % 251) as u8).collect();
        let picture = Picture { width, height, rgb };
        let bytes = encode_png(&picture);
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height), (width, height));
        assert_eq!(decoded, picture.rgb);
    }
}
